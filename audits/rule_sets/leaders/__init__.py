"""The leaderboard: ranked, taken apart, looked at afterwards, and the tables that it is read from."""
