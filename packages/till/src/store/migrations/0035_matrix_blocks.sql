-- Rows of a file in blocks: some 64 rows, ordered by symbol, column by column. One row of a table for each row of a file
-- meant an index entry and a page touched for each of them: most of the time a year took to come in. The rows themselves
-- are still there to be read, under the names they had, as views.
create function matrix_make_blocks(dataset text, numbers text[], texts text[]) returns void
  language plpgsql as $$
declare
  names text[] := numbers || texts;
  old_name text := 'matrix_' || dataset;
  new_name text := 'matrix_' || dataset || '_block';
  types text := '';
  gathered text := '';
  name text;
begin
  foreach name in array numbers loop types := types || format(', %I float8[] not null', name); end loop;
  foreach name in array texts loop types := types || format(', %I text[] not null', name); end loop;
  foreach name in array names loop gathered := gathered || format(', array_agg(r.%I order by r.symbol, r.place)', name); end loop;
  -- Wide enough that a block stays in its page: what is moved out of it would have to be fetched again for each read.
  execute format('create table %I (
    file_id integer not null,
    first_symbol text collate "C" not null,
    last_symbol text collate "C" not null,
    symbol_ids integer[] not null,
    as_of date[] not null%s,
    primary key (file_id, last_symbol)
  ) with (toast_tuple_target = 8160)', new_name, types);
  execute format('insert into %I select r.file_id, min(r.symbol), max(r.symbol), array_agg(r.symbol_id order by r.symbol, r.place),
      array_agg(r.as_of order by r.symbol, r.place)%s
    from (select o.*, o.ctid as place, s.symbol collate "C" as symbol,
        (dense_rank() over (partition by o.file_id order by s.symbol collate "C") - 1) / 64 as block
      from %I o join matrix_symbol s on s.id = o.symbol_id) r
    group by r.file_id, r.block', new_name, gathered, old_name);
  execute format('drop table %I', old_name);
  execute format('create view %I as
    select r.symbol_id, r.as_of, b.file_id, %s
    from %I b, unnest(b.symbol_ids, b.as_of, %s) as r(symbol_id, as_of, %s)',
    old_name,
    (select string_agg(format('r.%I', n), ', ') from unnest(names) n),
    new_name,
    (select string_agg(format('b.%I', n), ', ') from unnest(names) n),
    (select string_agg(format('%I', n), ', ') from unnest(names) n));
  execute format('create trigger %I before update or delete or truncate on %I
    for each statement execute function refuse_change()', new_name || '_append_only', new_name);
  update app_access set privileges = 'select' where table_name = old_name;
  insert into app_access values (new_name, 'select, insert');
end $$;

select matrix_make_blocks('short_volume', '{short_volume,exempt_volume,total_volume}', '{}');
select matrix_make_blocks('short_interest',
  '{position,previous_position,average_volume,days_to_cover,split,prior_revised}', '{}');
select matrix_make_blocks('fails', '{quantity,price}', '{cusip}');
select matrix_make_blocks('threshold', '{rule_3210}', '{name,category}');
select matrix_make_blocks('borrow', '{fee_pct,rebate_pct,available,available_capped}', '{}');
select matrix_make_blocks('halts', '{halted_at_ms,quote_at_ms,trade_at_ms,pause_price}', '{reason,market,name}');
select matrix_make_blocks('shares', '{shares,filed_day}', '{accession}');
select matrix_make_blocks('tickers', '{cik}', '{name}');
select matrix_make_blocks('holdings', '{holders,shares,value_usd}', '{}');
select matrix_make_blocks('listings', '{etf,test,kind}', '{name,exchange}');
select matrix_make_blocks('prices', '{open,high,low,close,volume}', '{}');
drop function matrix_make_blocks(text, text[], text[]);

-- Finished snapshots, so that a start serves them without making them again. A cache: what is missing is made anew from
-- the rows of truth, and what nobody asks for any more may be deleted.
create table matrix_snapshot_bytes (
  sha256 bytea primary key check (length(sha256) = 32),
  -- Both gzipped: the text whose hash it is, and where its rows begin.
  bytes bytea not null,
  layout bytea not null
);
alter table matrix_snapshot_bytes alter column bytes set storage external;
alter table matrix_snapshot_bytes alter column layout set storage external;

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
