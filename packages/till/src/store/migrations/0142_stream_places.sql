-- Open streams of a subscription, by product and process, for every shop that streams. What a process had open that died is
-- not counted once its lease is over. intent_process and intent_open served the intent stream alone and are no longer used.
create table stream_process (
  id text primary key,
  until timestamptz not null
);
create table stream_place (
  product text not null,
  wallet text not null,
  process text not null,
  streams integer not null check (streams >= 0),
  primary key (product, wallet, process)
);
insert into app_access values ('stream_process', 'select, insert, update, delete');
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
