"""The two pages that the server renders itself: sign in, and "not built". They run no script."""

import base64
import hashlib
from typing import Final

from starlette.responses import HTMLResponse

from openprogram.server.headers import CONTENT_SECURITY_POLICY

_STYLE: Final = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 }
body { min-height: 100dvh; display: grid; place-items: center }
main { width: min(26rem, 100vw - 3rem) }
h1 { font-size: 1.375rem; margin: 0 0 .5rem }
label { display: block; margin: 1.5rem 0 .375rem; font-weight: 600 }
input, button { font: inherit; box-sizing: border-box; width: 100% }
input, button { padding: .625rem .75rem; border-radius: .5rem }
input { border: 1px solid GrayText; background: Field; color: FieldText }
button { margin-top: .75rem; border: 0; background: #2f5bd0; color: #fff; font-weight: 600; cursor: pointer }
:focus-visible { outline: 3px solid #7f9df0; outline-offset: 2px }
[role=alert] { border-left: 4px solid #c62828; padding: .25rem .75rem; margin: 1rem 0 0 }
code { font-size: .9375em }
"""

_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - openprogram</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">{head}
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""

_SIGN_IN: Final = """<p>The server printed a link with its token when it started.
Open that link, or enter the token here.</p>
{alert}<form method="get" action="/">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus{invalid}>
<button type="submit">Sign in</button>
</form>"""

_WRONG: Final = '<p role="alert" id="wrong">That token is not the right one.</p>\n'

_NOT_BUILT: Final = """<p>The server runs, but the browser interface is not part of this installation.
In a checkout, <code>scripts/build</code> builds it; then reload this page.</p>"""


def sign_in_page(*, wrong: bool = False, retry: bool = False) -> HTMLResponse:
    """Ask for the token. `retry` reloads once by itself: see `openprogram.server.static.Entrance`."""
    body = _SIGN_IN.format(
        alert=_WRONG if wrong else "",
        invalid=' aria-invalid="true" aria-describedby="wrong"' if wrong else "",
    )
    return _page("Sign in", body, status=401, head='\n<meta http-equiv="refresh" content="0; url=/">' if retry else "")


def not_built_page() -> HTMLResponse:
    """Say what is missing and what to do."""
    return _page("The interface is not built", _NOT_BUILT, status=503)


def _page(title: str, body: str, *, status: int, head: str = "") -> HTMLResponse:
    policy = CONTENT_SECURITY_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_STYLE_HASH}'")
    return HTMLResponse(
        _PAGE.format(title=title, body=body, head=head, style=_STYLE),
        status,
        {"content-security-policy": policy.replace("script-src 'self'", "script-src 'none'")},
    )
