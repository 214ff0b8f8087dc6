#!/usr/bin/env python3
"""Prints what TensorBoard reads from a folder of event files: each tag with its steps and values.

    python -m venv venv && venv/bin/pip install tensorboard
    venv/bin/python tests/golden/check_events.py FOLDER
"""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
for tag in sorted(events.Tags()["scalars"]):
    points = events.Scalars(tag)
    print(tag, len(points), "points:", *(f"{point.step}:{point.value:.6g}" for point in points[:3]), "...",
          *(f"{point.step}:{point.value:.6g}" for point in points[-2:]))
