"""Where people meet Headwater: the ``headwater`` command. It composes; nothing imports it."""
