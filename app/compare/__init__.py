"""The page that sets a second model beside the first."""
