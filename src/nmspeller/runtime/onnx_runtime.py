"""ONNX Runtime with its telemetry switched off; import it from here only.

Since 1.31 the library writes a device id and a database below the user's cache folder and connects to a
telemetry host as soon as it is imported. It reads the environment variable at that moment, so that
`disable_telemetry_events` alone comes too late; that call stops the system events of Windows builds.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

onnxruntime.disable_telemetry_events()
# One arena for all sessions that ask for it: each would keep one of its own, as large as its largest batch.
onnxruntime.create_and_register_allocator(
    onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    ),
    # No limit, doubling when it grows, and the library's own sizes.
    onnxruntime.OrtArenaCfg(0, 0, -1, -1),
)

__all__ = ["onnxruntime"]
