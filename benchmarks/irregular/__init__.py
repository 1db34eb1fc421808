"""Programs whose branches, trip counts or addresses only data decides, rebuilt as plain loops."""
