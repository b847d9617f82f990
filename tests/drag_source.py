#!/usr/bin/python3
"""A small window from which the paths in argv can be dragged, as a file manager offers them.

It says `ready`, `begin`, `data asked` and `end`, each on a line, and ends after one drag or 30 seconds.
"""
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

paths = sys.argv[1:]
window = Gtk.Window(type=Gtk.WindowType.POPUP)  # needs no window manager
window.set_default_size(120, 80)
window.move(1100, 20)
box = Gtk.EventBox()
box.add(Gtk.Label(label="drag me"))
window.add(box)
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
box.drag_source_add_uri_targets()


def say(word):
    print(word, flush=True)


def give(_widget, _context, selection, _info, _time):
    selection.set_uris([GLib.filename_to_uri(path, None) for path in paths])
    say("data asked")


def ended(*_):
    say("end")
    Gtk.main_quit()


box.connect("drag-data-get", give)
box.connect("drag-begin", lambda *_: say("begin"))
box.connect("drag-end", ended)
window.show_all()
say("ready")
GLib.timeout_add_seconds(30, Gtk.main_quit)
Gtk.main()
