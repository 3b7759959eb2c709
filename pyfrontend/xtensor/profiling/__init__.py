"""Where the time goes: `xt.profile`."""
