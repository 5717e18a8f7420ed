-- Credit that a wallet locked, so that its word counts for more. It comes back on request after a delay, and is lost,
-- wholly or in part, by an upheld ruling.
create table agent_bond (
  id text primary key,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  network text not null,
  micro bigint not null check (micro > 0),
  slashed_micro bigint not null default 0,
  -- releasing: asked for and still at stake. slashed: nothing is left of it.
  state text not null check (state in ('locked', 'releasing', 'released', 'slashed')),
  locked_at timestamptz not null,
  locked_until timestamptz not null check (locked_until > locked_at),
  release_delay_seconds integer not null check (release_delay_seconds >= 0),
  release_asked_at timestamptz,
  release_at timestamptz,
  ended_at timestamptz,
  constraint agent_bond_slashed check (slashed_micro between 0 and micro),
  check ((state = 'slashed') = (slashed_micro = micro)),
  check ((release_asked_at is null) = (release_at is null)),
  check ((state in ('released', 'slashed')) = (ended_at is not null))
);
create index agent_bond_wallet on agent_bond (wallet, locked_at);
create index agent_bond_due on agent_bond (release_at) where state = 'releasing';
insert into app_access values ('agent_bond', 'select, insert, update');

-- Each ruling can take from a bond once.
create table bond_slash (
  bond_id text not null references agent_bond (id),
  ruling text not null check (length(ruling) between 1 and 200),
  micro bigint not null check (micro > 0),
  reason text not null check (length(reason) between 1 and 300),
  slashed_by text not null,
  slashed_at timestamptz not null,
  primary key (bond_id, ruling)
);
insert into app_access values ('bond_slash', 'select, insert');
create trigger bond_slash_append_only before update or delete or truncate on bond_slash
  for each statement execute function refuse_change();
