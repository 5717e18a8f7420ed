-- Who funded the wallets that cite and that are cited, read from the chain; and from it, who is one purse.
create table funding_wallet (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- 0: it cited, paid or was paid. 1: it funded one of those.
  hop smallint not null check (hop between 0 and 8),
  -- Transfers into it are read up to this block; null until the first look.
  read_to bigint,
  received_micro numeric not null default 0 check (received_micro >= 0),
  primary key (network, wallet)
);
create index funding_wallet_unread on funding_wallet (network) where read_to is null;

create table funding_edge (
  network text not null,
  wallet text not null,
  funder text not null check (funder ~ '^0x[0-9a-f]{40}$'),
  micro numeric not null check (micro > 0),
  first_block bigint not null,
  primary key (network, wallet, funder),
  foreign key (network, wallet) references funding_wallet
);
create index funding_edge_by_funder on funding_edge (network, funder);

-- Whether a funder serves the public, as an exchange does: then having it in common says nothing.
create table funding_hub (
  network text not null,
  funder text not null check (funder ~ '^0x[0-9a-f]{40}$'),
  recipients integer not null check (recipients >= 0),
  hub boolean not null,
  probed_at timestamptz not null,
  primary key (network, funder)
);
insert into app_access values ('funding_edge', 'select, insert, update'), ('funding_hub', 'select, insert, update');

-- True when the cluster follows from funding, and goes with it; false for one that the operator set.
alter table citing_agent add column by_funding boolean not null default false;

-- A citation enters the books of trust only after its parties were looked at in the light of the chain.
alter table attestation add column judged_at timestamptz;
update attestation set judged_at = folded_at where folded_at is not null;
create index attestation_unjudged on attestation (created_at) where judged_at is null;
update app_access set privileges = 'select, insert, update (folded_at, wash, judged_at)' where table_name = 'attestation';
