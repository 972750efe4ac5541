"""Install Rubato on a machine without tools and start it: environments side by side, a pointer to
the current one, and the previous one, which stays until the next update.

Invariant: standard library and installer.commands only, because it runs before anything is
installed. Whenever it is killed, the pointer names an environment that is complete and was checked.

    home = paths.Home(paths.default_folder())
    name = installation.install(home, payload.read(folder))   # make, check, switch
    home.roll_back()                                          # on request
"""
