-- Every period that was bought. What a wallet may use follows from its rows that were not reversed, in their order.
create table subscription_purchase (
  payment_id text collate "C" not null,
  -- The same payment may land again after a reorg: another row.
  round integer not null default 0,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  tier text not null check (tier in ('standard', 'vip', 'stream')),
  network text not null,
  -- Both prices of the moment: later changes do not touch what was bought.
  standard_micro bigint not null check (standard_micro > 0),
  vip_micro bigint not null check (vip_micro >= standard_micro),
  bought_at timestamptz not null,
  revoked_at timestamptz,
  -- A wallet may hold more than one kind of subscription: the feeds of area B, and the intent stream.
  product text not null default 'feeds' check (product in ('feeds', 'stream')),
  -- An upgrade changes the tier of what is left and adds no time.
  kind text not null default 'period' check (kind in ('period', 'renewal', 'upgrade')),
  -- Of an upgrade: the time that was left then, and was paid for.
  paid_ms bigint check (paid_ms >= 0),
  primary key (payment_id, round)
);
create index subscription_purchase_wallet on subscription_purchase (wallet, bought_at);

-- The outcome of those rows, one per wallet, and the token that opens it.
create table subscription (
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  tier text not null check (tier in ('standard', 'vip', 'stream')),
  from_at timestamptz not null,
  until_at timestamptz not null,
  -- Given back for outages; contained in until_at.
  extended_ms bigint not null default 0 check (extended_ms >= 0),
  token_version integer not null default 1 check (token_version > 0),
  -- Null after it was revoked.
  token_hash bytea unique check (octet_length(token_hash) = 32),
  changed_at timestamptz not null,
  product text not null default 'feeds' check (product in ('feeds', 'stream')),
  token_secret integer not null references token_secret (version),
  -- Opens nothing while it is set.
  paused_at timestamptz,
  primary key (wallet, product)
);
create index subscription_until on subscription (until_at);

-- Times in which a wallet paused what it had; they do not count as used.
create table subscription_pause (
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  product text not null check (product in ('feeds', 'stream')),
  began_at timestamptz not null,
  ended_at timestamptz check (ended_at >= began_at),
  primary key (wallet, product, began_at)
);
create unique index subscription_pause_open on subscription_pause (wallet, product) where ended_at is null;

-- Renewals from credit, under a mandate that the wallet signed.
create table subscription_renewal (
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  product text not null check (product in ('feeds', 'stream')),
  tier text not null check (tier in ('standard', 'vip', 'stream')),
  mandate_id text not null check (mandate_id ~ '^mdt_[0-9a-f]{40}$'),
  -- The price that was agreed to; a higher one needs another word of the wallet.
  price_max_micro bigint not null check (price_max_micro > 0),
  state text not null check (state in ('on', 'off', 'ended')),
  -- Why the last attempt failed, or why it ended.
  problem text,
  next_at timestamptz not null,
  changed_at timestamptz not null,
  -- When its wallet last asked for it.
  confirmed_at timestamptz not null default now(),
  primary key (wallet, product)
);
insert into pause (name, stops, leaves_running) values
  ('renewals', 'subscriptions renewed from credit', 'time that is paid for, and renewing by hand');
create index subscription_renewal_due on subscription_renewal (next_at) where state = 'on';

-- Times in which part of what a product opens could not be had. The open one grows with every check.
create table subscription_outage (
  product text not null check (product in ('feeds', 'stream')),
  began_at timestamptz not null,
  ended_at timestamptz not null check (ended_at >= began_at),
  down integer not null check (down > 0),
  parts integer not null check (parts >= down),
  open boolean not null default true,
  primary key (product, began_at)
);
create unique index subscription_outage_open on subscription_outage (product) where open;

-- When somebody last looked whether a product could be had. A long silence means that no node ran.
create table subscription_look (
  product text primary key check (product in ('feeds', 'stream')),
  checked_at timestamptz not null
);

-- Time given back, as it was given.
create table subscription_extension (
  id bigint generated always as identity primary key,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  product text not null check (product in ('feeds', 'stream')),
  given_ms bigint not null check (given_ms <> 0),
  until_at timestamptz not null,
  given_at timestamptz not null
);
create index subscription_extension_wallet on subscription_extension (wallet, product, id);
insert into app_access values ('subscription_extension', 'select, insert');
create trigger subscription_extension_append_only before update or delete or truncate on subscription_extension
  for each statement execute function refuse_change();

-- Hashes of tokens that no longer open anything, so that their holder learns why.
create table subscription_old_token (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  wallet text not null,
  ended_at timestamptz not null
);

-- Pulls of the current minute and day, for the published fair-use limits.
create unlogged table subscription_usage (
  wallet text not null,
  span text not null check (span in ('minute','day')),
  began_at timestamptz not null,
  used integer not null check (used >= 0),
  primary key (wallet, span)
);

-- Open streams of a subscription, by product and process, for every shop that streams. What a process had open that died is
-- not counted once its lease is over.
create table stream_process (
  id text primary key,
  until timestamptz not null
);
insert into app_access values ('stream_process', 'select, insert, update, delete');

create table stream_place (
  product text not null,
  wallet text not null,
  process text not null,
  streams integer not null check (streams >= 0),
  primary key (product, wallet, process)
);
insert into app_access values ('stream_place', 'select, insert, update, delete');

-- One more stream of a wallet, unless so many are open in all processes together. Not waited for on its way to disk: a
-- crash of the database ends every stream with it.
create function stream_place_take(by_process text, of_product text, for_wallet text, streams_max integer)
  returns boolean language plpgsql set search_path = public, pg_temp as $$
declare
  taken integer;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(hashtextextended('stream_place:' || of_product || ' ' || for_wallet, 0));
  select coalesce(sum(o.streams), 0) into taken from stream_place o
    left join stream_process p on p.id = o.process
    where o.product = of_product and o.wallet = for_wallet
      and (o.process = by_process or p.until > clock_timestamp());
  if taken >= streams_max then
    return false;
  end if;
  insert into stream_place as o (product, wallet, process, streams) values (of_product, for_wallet, by_process, 1)
    on conflict (product, wallet, process) do update set streams = o.streams + 1;
  return true;
end $$;
