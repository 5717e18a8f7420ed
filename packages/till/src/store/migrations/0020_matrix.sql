-- Market data, point in time: rows are only ever added. When they became public and when they came in belongs to
-- their file, for a file is published and corrected as a whole.
create table matrix_symbol (
  id integer generated always as identity primary key,
  symbol text not null unique check (length(symbol) between 1 and 40)
);

create table matrix_file (
  id integer generated always as identity primary key,
  source text not null,
  part text not null,
  period text not null,
  as_of date not null,
  revision integer not null check (revision > 0),
  available_at timestamptz not null,
  available_basis text not null check (available_basis in ('stated', 'stamp', 'last_modified', 'schedule', 'observed')),
  ingested_at timestamptz not null,
  sha256 bytea not null check (length(sha256) = 32),
  name text not null,
  url text,
  row_count integer not null,
  byte_count integer not null,
  skipped jsonb not null,
  synthetic boolean not null,
  unique (source, part, period, revision)
);
create index matrix_file_bytes on matrix_file (sha256);

-- The bytes as they came, gzipped, in pieces that a statement can carry.
create table matrix_raw (
  sha256 bytea not null check (length(sha256) = 32),
  piece integer not null,
  bytes bytea not null,
  primary key (sha256, piece)
);
alter table matrix_raw alter column bytes set storage external;

-- Files that failed their checks: kept aside with the reason, used for nothing.
create table matrix_refusal (
  id integer generated always as identity primary key,
  source text,
  name text not null,
  url text,
  sha256 bytea not null,
  byte_count integer not null,
  code text not null,
  detail text not null,
  refused_at timestamptz not null
);

create table matrix_short_volume (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  short_volume float8, exempt_volume float8, total_volume float8
);
create table matrix_short_interest (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  position float8, previous_position float8, average_volume float8, days_to_cover float8, split float8, prior_revised float8
);
create table matrix_fails (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  quantity float8, price float8, cusip text
);
create table matrix_threshold (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  rule_3210 float8, name text, category text
);
create table matrix_borrow (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  fee_pct float8, rebate_pct float8, available float8, available_capped float8
);
create table matrix_halts (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  halted_at_ms float8, quote_at_ms float8, trade_at_ms float8, pause_price float8, reason text, market text, name text
);
create table matrix_shares (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  shares float8, filed_day float8, accession text
);
create table matrix_tickers (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  cik float8, name text
);
create table matrix_holdings (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  holders float8, shares float8, value_usd float8
);
create table matrix_listings (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  etf float8, test float8, kind float8, name text, exchange text
);
create table matrix_prices (
  symbol_id integer not null, as_of date not null, file_id integer not null,
  open float8, high float8, low float8, close float8, volume float8
);

-- A year is read by file (rows of a file stand together, so a block range index is enough) and by symbol.
do $$
declare
  name text;
begin
  foreach name in array array['short_volume', 'short_interest', 'fails', 'threshold', 'borrow', 'halts', 'shares',
      'tickers', 'holdings', 'listings', 'prices'] loop
    execute format('create index matrix_%s_file on matrix_%s using brin (file_id) with (pages_per_range = 16)', name, name);
    execute format('create trigger matrix_%s_append_only before update or delete or truncate on matrix_%s
      for each statement execute function refuse_change()', name, name);
    execute format('insert into app_access values (%L, %L)', 'matrix_' || name, 'select, insert');
  end loop;
end $$;
create index matrix_short_volume_symbol on matrix_short_volume (symbol_id, as_of);
create index matrix_short_interest_symbol on matrix_short_interest (symbol_id, as_of);
create index matrix_fails_symbol on matrix_fails (symbol_id, as_of);
create index matrix_borrow_symbol on matrix_borrow (symbol_id, as_of);
create index matrix_prices_symbol on matrix_prices (symbol_id, as_of);
create index matrix_threshold_symbol on matrix_threshold (symbol_id, as_of);
create index matrix_halts_symbol on matrix_halts (symbol_id, as_of);

create trigger matrix_file_append_only before update or delete or truncate on matrix_file
  for each statement execute function refuse_change();
create trigger matrix_symbol_append_only before update or delete or truncate on matrix_symbol
  for each statement execute function refuse_change();
create trigger matrix_raw_append_only before update or delete or truncate on matrix_raw
  for each statement execute function refuse_change();
insert into app_access values
  ('matrix_symbol', 'select, insert'),
  ('matrix_file', 'select, insert'),
  ('matrix_raw', 'select, insert'),
  ('matrix_refusal', 'select, insert');

-- What was served: enough to make the same bytes again from the files named in it.
create table matrix_snapshot (
  id bigint generated always as identity primary key,
  feed text not null,
  variant text not null check (variant in ('free', 'paid')),
  method text not null,
  known_at timestamptz not null,
  as_of date not null,
  available_at timestamptz not null,
  made_at timestamptz not null,
  sha256 bytea not null check (length(sha256) = 32),
  row_count integer not null,
  coverage_pct float8 not null,
  inputs jsonb not null,
  synthetic boolean not null,
  unique (feed, variant, sha256)
);
create index matrix_snapshot_newest on matrix_snapshot (feed, variant, available_at desc, id desc);
create trigger matrix_snapshot_append_only before update or delete or truncate on matrix_snapshot
  for each statement execute function refuse_change();
insert into app_access values ('matrix_snapshot', 'select, insert');

create table matrix_quality (
  id integer generated always as identity primary key,
  feed text not null,
  computed_at timestamptz not null,
  document jsonb not null
);
create index matrix_quality_newest on matrix_quality (feed, id desc);
insert into app_access values ('matrix_quality', 'select, insert');

-- How the last look at an address went, for conditional requests and back-off.
create table matrix_fetch (
  url text primary key,
  source text not null,
  etag text,
  last_modified text,
  last_status text not null,
  failures integer not null,
  checked_at timestamptz not null,
  next_at timestamptz not null
);
