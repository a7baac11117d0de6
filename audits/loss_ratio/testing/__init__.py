"""Tests on the people moved, of one model, of several beside each other, and over weights."""
