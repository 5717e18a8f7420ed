-- Operators of one rank are read from left to right: without the brackets the time was cut off again, and all entries of the
-- books went to `ledger_entry_rest`. Those that are there stay there.
create or replace function time_number(place bigint) returns bigint language sql volatile as $$
  select (floor(extract(epoch from clock_timestamp()))::bigint << 31) | (place & 2147483647)
$$;
