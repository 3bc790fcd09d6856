"""A browser interface in miniature: no packages, one source file, and a build that copies it."""

import json

PACKAGE = {"name": "webui", "version": "0.0.0", "private": True, "scripts": {"build": "node build.mjs"}}
LOCK = {
    "name": "webui",
    "version": "0.0.0",
    "lockfileVersion": 3,
    "requires": True,
    "packages": {"": {"name": "webui", "version": "0.0.0"}},
}
BUILD = """
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
const out = '../openprogram/web/static'
rmSync(out, { recursive: true, force: true })
if (readFileSync('src/index.html', 'utf8').includes('broken')) process.exit(3)
mkdirSync(out, { recursive: true })
cpSync('src', out, { recursive: true })
"""

FILES = {
    "webui/package.json": json.dumps(PACKAGE),
    "webui/package-lock.json": json.dumps(LOCK),
    "webui/build.mjs": BUILD,
    "webui/src/index.html": "<p>one</p>",
}
