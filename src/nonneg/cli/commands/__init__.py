"""The commands, one file each: a module of the command's name with a click command called `command`."""
