-- Hosts of one registrable domain take turns: whoever owns a wildcard meets one visitor, not thousands.
create index source_by_registrable on source (registrable);

-- A wish to be visited that comes while a visit is under way is kept for the next one.
alter table crawl_host add column wanted_at timestamptz;
