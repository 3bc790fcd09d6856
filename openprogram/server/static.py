"""The interface's files, and the way in: the page at `/` and the sign-in."""

import os
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from openprogram.server.access import Access
from openprogram.server.auth import has_cookie
from openprogram.server.pages import not_built_page, sign_in_page

IMMUTABLE: Final = "public, max-age=31536000, immutable"
REVALIDATE: Final = "no-cache"
COOKIE_AGE_S: Final = 365 * 24 * 3600


class InterfaceFiles(StaticFiles):
    """What the build made. Files in `assets/` have a hash in their name and never change."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory, check_dir=False)

    async def check_config(self) -> None:
        """A directory that is not there (yet) is no error: its files are 404."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, with how long it may be kept."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        hashed = Path(full_path).parent.name == "assets"
        response.headers["cache-control"] = IMMUTABLE if hashed else REVALIDATE
        return response


class Entrance:
    """`GET /`: the interface for who has signed in, the sign-in page for who has not, `?token=` in between."""

    def __init__(self, access: Access, static: Path) -> None:
        self._access = access
        self._index = static / "index.html"

    async def __call__(self, request: Request) -> Response:
        """Answer a visit."""
        token = request.query_params.get("token")
        if token is not None:
            return self._sign_in(request) if self._access.token_matches(token) else sign_in_page(wrong=True)
        if request.user is None and not has_cookie(self._access, request):
            # A link from another site to /?token=... ends here although the cookie is set: a SameSite=Strict
            # cookie is not sent along such a chain. A reload that this page itself asks for does send it.
            return sign_in_page(retry=request.headers.get("sec-fetch-site") == "cross-site")
        if not self._index.is_file():
            return not_built_page()
        return FileResponse(self._index, headers={"cache-control": REVALIDATE})

    def _sign_in(self, request: Request) -> Response:
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self._access.cookie_name,
            self._access.cookie_value,
            max_age=COOKIE_AGE_S,
            secure=request.headers["host"].lower() in self._access.secure_hosts,
            httponly=True,
            samesite="strict",
        )
        return response
