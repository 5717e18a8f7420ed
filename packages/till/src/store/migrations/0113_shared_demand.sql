-- What peers of the mesh published of their demand and signed, as far as this node was told to read it.
create table intent_peer_event (
  did text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  -- Noisy demand by cluster, as the peer published it.
  counts jsonb not null,
  -- The signed CloudEvent, byte for byte as it was received.
  event text not null,
  taken_at timestamptz not null,
  primary key (did, ends_at)
);

-- Open streams of a subscription, by process. What a process had open that died is not counted once its lease is over.
create table intent_process (
  id text primary key,
  until timestamptz not null
);
create table intent_open (
  wallet text not null,
  process text not null,
  streams integer not null check (streams >= 0),
  primary key (wallet, process)
);

-- One more stream of a wallet, unless so many are open in all processes together. Not waited for on its way to disk: a
-- crash of the database ends every stream with it.
create function intent_open_take(by_process text, for_wallet text, streams_max integer)
  returns boolean language plpgsql set search_path = public, pg_temp as $$
declare
  taken integer;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(hashtextextended('intent_open:' || for_wallet, 0));
  select coalesce(sum(o.streams), 0) into taken from intent_open o
    left join intent_process p on p.id = o.process
    where o.wallet = for_wallet and (o.process = by_process or p.until > clock_timestamp());
  if taken >= streams_max then
    return false;
  end if;
  insert into intent_open as o (wallet, process, streams) values (for_wallet, by_process, 1)
    on conflict (wallet, process) do update set streams = o.streams + 1;
  return true;
end $$;
