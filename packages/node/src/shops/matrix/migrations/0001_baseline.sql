-- Market data, point in time: rows are only ever added. When they became public and when they came in belongs to
-- their file, for a file is published and corrected as a whole.
create table matrix_symbol (
  id integer generated always as identity primary key,
  symbol text not null unique check (length(symbol) between 1 and 40)
);
insert into app_access values ('matrix_symbol', 'select, insert');
create trigger matrix_symbol_append_only before update or delete or truncate on matrix_symbol
  for each statement execute function refuse_change();

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
insert into app_access values ('matrix_file', 'select, insert');
create trigger matrix_file_append_only before update or delete or truncate on matrix_file
  for each statement execute function refuse_change();

-- The bytes as they came, gzipped, in pieces that a statement can carry.
create table matrix_raw (
  sha256 bytea not null check (length(sha256) = 32),
  piece integer not null,
  bytes bytea not null,
  primary key (sha256, piece)
);
alter table matrix_raw alter column bytes set storage external;
insert into app_access values ('matrix_raw', 'select, insert');
create trigger matrix_raw_append_only before update or delete or truncate on matrix_raw
  for each statement execute function refuse_change();

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
insert into app_access values ('matrix_refusal', 'select, insert');

-- Rows of a file in blocks: some 64 rows, ordered by symbol, column by column. One row of a table for each row of a file
-- would mean an index entry and a page touched for each of them. The rows themselves are there to be read as views.
do $$
declare
  dataset record;
  columns text[];
begin
  for dataset in select * from (values
    ('short_volume', '{short_volume,exempt_volume,total_volume}'::text[], '{}'::text[]),
    ('short_interest', '{position,previous_position,average_volume,days_to_cover,split,prior_revised}', '{}'),
    ('fails', '{quantity,price}', '{cusip}'),
    ('threshold', '{rule_3210}', '{name,category}'),
    ('borrow', '{fee_pct,rebate_pct,available,available_capped}', '{}'),
    ('halts', '{halted_at_ms,quote_at_ms,trade_at_ms,pause_price}', '{reason,market,name}'),
    ('shares', '{shares,filed_day,float_usd}', '{accession}'),
    ('tickers', '{cik}', '{name}'),
    ('holdings', '{holders,shares,value_usd}', '{}'),
    ('listings', '{etf,test,kind}', '{name,exchange}'),
    ('prices', '{open,high,low,close,volume}', '{}'),
    ('actions', '{factor}', '{new_symbol}'),
    ('fields', '{utilisation_pct,lending_fee_pct,implied_volatility_30d_pct,put_call_open_interest}', '{}')
  ) d (name, numbers, texts) loop
    columns := dataset.numbers || dataset.texts;
    -- Wide enough that a block stays in its page: what is moved out of it would have to be fetched again for each read.
    execute format('create table matrix_%s_block (
      file_id integer not null,
      first_symbol text collate "C" not null,
      last_symbol text collate "C" not null,
      symbol_ids integer[] not null,
      as_of date[] not null%s%s,
      primary key (file_id, last_symbol)
    ) with (toast_tuple_target = 8160)', dataset.name,
      (select string_agg(format(', %I float8[] not null', n), '') from unnest(dataset.numbers) n),
      (select string_agg(format(', %I text[] not null', n), '') from unnest(dataset.texts) n));
    execute format('create view matrix_%s as select r.symbol_id, r.as_of, b.file_id, %s
      from matrix_%s_block b, unnest(b.symbol_ids, b.as_of, %s) as r (symbol_id, as_of, %s)', dataset.name,
      (select string_agg(format('r.%I', n), ', ') from unnest(columns) n), dataset.name,
      (select string_agg(format('b.%I', n), ', ') from unnest(columns) n),
      (select string_agg(format('%I', n), ', ') from unnest(columns) n));
    execute format('create trigger matrix_%s_block_append_only before update or delete or truncate on matrix_%s_block
      for each statement execute function refuse_change()', dataset.name, dataset.name);
    insert into app_access values
      ('matrix_' || dataset.name, 'select'), ('matrix_' || dataset.name || '_block', 'select, insert');
  end loop;
end $$;

-- Which symbols a security number had.
create index matrix_fails_cusip on matrix_fails_block using gin (cusip);

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
insert into app_access values ('matrix_snapshot', 'select, insert');
create trigger matrix_snapshot_append_only before update or delete or truncate on matrix_snapshot
  for each statement execute function refuse_change();

create table matrix_quality (
  id integer generated always as identity primary key,
  feed text not null,
  computed_at timestamptz not null,
  document jsonb not null
);
create index matrix_quality_newest on matrix_quality (feed, id desc);
insert into app_access values ('matrix_quality', 'select, insert');

-- How the last fetch of an address went, for conditional requests and back-off.
create table matrix_fetch (
  url text primary key,
  source text not null,
  period text not null,
  etag text,
  last_modified text,
  last_status text not null,
  failures integer not null,
  checked_at timestamptz not null,
  next_at timestamptz not null
);

-- When a publisher may be asked again, by whichever process: the pause between two requests, and what it asks for itself.
create table matrix_publisher (
  name text primary key,
  next_at timestamptz not null
);

-- Finished snapshots, so that a start serves them without making them again. A cache: what is missing is made again from
-- the rows of truth, and what nobody asks for any more may be deleted.
create table matrix_snapshot_bytes (
  sha256 bytea primary key check (length(sha256) = 32),
  -- Both gzipped: the text whose hash it is, and where its rows begin.
  bytes bytea not null,
  layout bytea not null
);
alter table matrix_snapshot_bytes alter column bytes set storage external, alter column layout set storage external;

create table matrix_snapshot_kept (
  -- Hash of everything the bytes depend on: feed, method, rights, and the files known.
  key bytea primary key check (length(key) = 32),
  feed text not null,
  -- The same without the files: an older snapshot by the same rules may stand in while a new one is made.
  rules bytea not null check (length(rules) = 32),
  sha256 bytea not null references matrix_snapshot_bytes on delete cascade,
  available_at timestamptz not null,
  made_at timestamptz not null
);
create index matrix_snapshot_kept_newest on matrix_snapshot_kept (feed, rules, available_at desc, made_at desc);
create index matrix_snapshot_kept_bytes on matrix_snapshot_kept (sha256);

-- What each watched alert rule last saw, so that it tells of a change once. Gone with the last watch of the rule.
create table matrix_alert (
  rule text primary key,
  -- Of the snapshot it was last held against.
  sha256 bytea not null check (length(sha256) = 32),
  -- The figure then; for a rule about moves of the rank, the rank of the last alert. Null while unknown.
  figure float8,
  holds boolean not null
);

-- Rankings as they were known before the open of a day: which days are held, and what each was made of.
create table matrix_score_day (
  feed text not null,
  day date not null,
  -- Of the snapshot they were taken from: with other files, rights or method it is another.
  key bytea not null check (length(key) = 32),
  primary key (feed, day)
);
-- By symbol and month, so that years of one symbol are a few dozen rows. A day made again is appended: the last one counts.
create table matrix_score_month (
  feed text not null,
  symbol text collate "C" not null,
  month date not null,
  method text not null,
  days date[] not null,
  -- For each day: rank, score, strength, then a value for each factor of the method. NaN where unknown.
  figures float4[] not null,
  primary key (feed, symbol, month, method)
);

-- Screens that wallets saved: a query of a feed, or a watchlist of symbols. Anyone who has the id may use it.
create table matrix_screen (
  id text primary key check (id ~ '^scr_[0-9a-f]{32}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  name text not null check (length(name) between 1 and 60),
  feed text,
  query jsonb not null,
  symbols text[] not null check (cardinality(symbols) <= 500),
  changed_at timestamptz not null,
  unique (wallet, name)
);
-- Screens that nobody changed for long are deleted as others are saved.
create index matrix_screen_changed on matrix_screen (changed_at);

-- Files of past months that can be downloaded, as they were when they were last made.
create table matrix_bulk (
  feed text not null,
  month date not null,
  format text not null check (format in ('csv', 'parquet')),
  -- Of everything the file is made of.
  key bytea not null check (length(key) = 32),
  rows bigint not null check (rows >= 0),
  bytes bigint not null check (bytes >= 0),
  sha256 bytea not null check (length(sha256) = 32),
  made_at timestamptz not null,
  primary key (feed, month, format)
);

insert into operator_access
select table_name from information_schema.tables where table_schema = 'public' and table_name like 'matrix\_%';
insert into personal_data (place, what, erase) values
  ('matrix_screen.query', 'saved screens', 'delete from matrix_screen where wallet = $1');
