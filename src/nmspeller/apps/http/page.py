"""The page at `/` and its files, all of them from the package."""

from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import Response

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "json": "application/json"}
_CHARSET = "; charset=utf-8"

router = APIRouter(include_in_schema=False)


def _serve(file: str, path: str) -> None:
    """Answer a path with a file of the package, read once. Paths are a fixed table, never put together."""
    content = files("nmspeller.apps.web").joinpath(file).read_bytes()
    kind = _TYPES[file.rsplit(".", 1)[1]] + _CHARSET

    @router.get(path, name=file)
    async def static() -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})


_serve("index.html", "/")
_serve("docs.html", "/docs")
for _resource in files("nmspeller.apps.web").iterdir():
    if _resource.name.endswith((".css", ".js", ".json")):
        _serve(_resource.name, f"/page/{_resource.name}")
