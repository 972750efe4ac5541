"""All models there are: listed, fetched, added, found on servers, recommended, chosen, removed."""
