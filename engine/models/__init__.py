"""All models: listed, fetched, added, on servers, recommended, chosen, removed."""
