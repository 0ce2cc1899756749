"""Opens, changes and saves documents in LibreOffice, as lines of standard input ask; run by Debian's Python.

Each line is a JSON list: the file to open, the file to save, and commands such as `AcceptAllTrackedChanges`.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

FILTERS = {
    ".docx": "MS Word 2007 XML",
    ".odt": "writer8",
    ".pptx": "Impress MS PowerPoint 2007 XML",
    ".odp": "impress8",
    ".pdf": "writer_pdf_Export",
}


def value(name, content):
    return PropertyValue(Name=name, Value=content)


def connected(pipe, process):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
    while process.poll() is None:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.2)
    raise SystemExit("LibreOffice ended")


def main(profile):
    pipe = f"nmspeller{os.getpid()}"
    office = subprocess.Popen(
        [
            "soffice", "--headless", "--norestore", "--nologo", "--nodefault",
            f"-env:UserInstallation={Path(profile).as_uri()}", f"--accept=pipe,name={pipe};urp;",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    context = connected(pipe, office)
    create = context.ServiceManager.createInstanceWithContext
    desktop = create("com.sun.star.frame.Desktop", context)
    dispatcher = create("com.sun.star.frame.DispatchHelper", context)
    for line in sys.stdin:
        source, target, *commands = json.loads(line)
        try:
            document = desktop.loadComponentFromURL(
                Path(source).as_uri(), "_blank", 0, (value("Hidden", True),)
            )
            for command in commands:
                frame = document.CurrentController.Frame
                dispatcher.executeDispatch(frame, f".uno:{command}", "", 0, ())
            suffix = Path(target).suffix
            document.storeToURL(Path(target).as_uri(), (value("FilterName", FILTERS[suffix]),))
            document.close(True)
            print("done", flush=True)
        except Exception as wrong:
            print(repr(wrong)[:500].replace("\n", " "), flush=True)
    with suppress(Exception):  # the connection ends before the answer
        desktop.terminate()
    office.wait(30)


if __name__ == "__main__":
    main(sys.argv[1])
