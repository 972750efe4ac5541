"""Install Rubato on a machine without tools and start it: environments side by side, a pointer to
the current one, and the previous one, which is kept until the new one has proved itself.

Invariant: standard library and installer.commands only, because it runs before anything is
installed. Whenever it is killed, the pointer names an environment that is complete and was checked.

    home = paths.Home(paths.default_folder())
    name = installation.install(home, payload.read(folder), Choice())   # make, check, switch
    starting.environment_to_start(home)                           # roll back or tidy, then start
"""
