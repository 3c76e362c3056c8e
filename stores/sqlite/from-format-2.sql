-- Format 3 brought checksums to the rows that had none. What is there has none yet.

ALTER TABLE inbound ADD COLUMN check_sum INTEGER;
ALTER TABLE turn ADD COLUMN check_sum INTEGER;
ALTER TABLE identity ADD COLUMN check_sum INTEGER;
