-- How many transactions of a settlement wallet the chain was seen to count. Those that the books do not know were sent
-- before a restore, or by somebody else with the same key.
create table settlement_wallet_count (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  seen_count bigint not null check (seen_count >= 0),
  primary key (network, wallet)
);
insert into app_access values ('settlement_wallet_count', 'select, insert, update');
