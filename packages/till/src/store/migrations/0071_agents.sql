-- What an agent says of itself. The subject is a wallet, or one account of a contract wallet with its chain.
create table agent (
  subject text primary key check (subject ~ '^(eip155:[1-9][0-9]{0,14}:)?0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  version integer not null check (version >= 0),
  -- Lower bound of the rating when it was last computed, for lists.
  score smallint check (score between 0 and 100),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deactivated_at timestamptz
);
create index agent_by_wallet on agent (wallet);

-- Every version ever declared, as it was declared.
create table agent_version (
  subject text not null references agent,
  version integer not null check (version > 0),
  document jsonb not null,
  -- Which account signed it, in CAIP-10.
  signer text not null,
  declared_at timestamptz not null,
  primary key (subject, version)
);
insert into app_access values ('agent_version', 'select, insert');
create trigger agent_version_is_fixed before update or delete on agent_version
  for each row execute function refuse_change();

-- The newest version, by what it offers.
create table agent_capability (
  capability text not null check (length(capability) between 1 and 64),
  subject text not null references agent,
  primary key (capability, subject)
);
create index agent_capability_by_subject on agent_capability (subject);
create index agent_by_score on agent ((-coalesce(score, -1)), subject) where deactivated_at is null;
