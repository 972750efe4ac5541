"""Brings Rubato onto a machine without tools and starts it: environments beside each other, a
pointer to the one in force, and the one before it kept until the new one has proved itself.

Invariant: standard library and installer.commands only, for it runs before anything is installed;
and at whatever instant it is killed, the pointer names an environment that was whole and checked.

    home = places.Home(places.default_folder())
    name = making.install(home, payload.read(folder), Choice())   # make, check, switch
    starting.environment_to_start(home)                           # roll back or tidy, then start
"""
