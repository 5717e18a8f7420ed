-- The contract has a pot per epoch: what is on chain is kept by leaf, and each leaf is claimed once.
-- contract: nothing was released with the tables before, and the contract they describe is replaced with them
drop table creator_leaf;
drop table creator_root;
drop table creator_balance;
drop table creator_claim;
drop table creator_cursor;

-- Roots, one at a time per chain. signed: may land at any moment. committed: in a final block. abandoned: provably never.
create table creator_root (
  id bigint generated always as identity primary key,
  network text not null,
  contract text not null,
  epoch bigint not null,
  root bytea not null check (octet_length(root) = 32),
  -- All pots up to this one, and its own.
  total_micro bigint not null,
  pot_micro bigint not null check (pot_micro > 0),
  leaves integer not null,
  valid_before bigint,
  head_block bigint not null,
  signature bytea,
  state text not null check (state in ('signed', 'committed', 'abandoned')),
  -- Found on the chain, not signed by these books.
  adopted boolean not null default false,
  transaction text,
  block_number bigint,
  -- From when on the contract pays it, and whether the balances of its creators say so.
  opens_at timestamptz,
  opened boolean not null default false,
  signed_at timestamptz not null,
  ended_at timestamptz,
  check (state <> 'signed' or (signature is not null and valid_before is not null)),
  check (state <> 'committed' or opens_at is not null)
);
create unique index creator_root_signed on creator_root (network) where state = 'signed';
create unique index creator_root_epoch on creator_root (network, contract, epoch) where state = 'committed';
create index creator_root_unopened on creator_root (network, opens_at) where state = 'committed' and not opened;
create index creator_root_newest on creator_root (network, signed_at desc);

-- What one epoch allots to one domain and wallet, with the way from there to the root, 32 bytes a step.
create table creator_leaf (
  root_id bigint not null references creator_root,
  network text not null,
  epoch bigint not null,
  -- keccak256 of the domain; the domain is null where a restore took it from the books.
  account bytea not null check (octet_length(account) = 32),
  domain text,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  micro bigint not null check (micro > 0),
  proof bytea not null,
  claim_transaction text,
  primary key (root_id, account, wallet)
);
create index creator_leaf_unclaimed on creator_leaf (network, wallet, account, epoch) where claim_transaction is null;
create index creator_leaf_by_key on creator_leaf (network, epoch, account, wallet);

-- Running sums of the leaves of a wallet: allotted, open to be claimed, claimed.
create table creator_balance (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  committed_micro bigint not null default 0 check (committed_micro >= 0),
  opened_micro bigint not null default 0 check (opened_micro between 0 and committed_micro),
  claimed_micro bigint not null default 0 check (claimed_micro between 0 and committed_micro),
  -- A claim that could not be paid is tried again later, and others are sent meanwhile.
  push_after timestamptz not null default '-infinity',
  primary key (network, wallet)
);
create index creator_balance_due on creator_balance (network, (opened_micro - claimed_micro));

-- Claims of one transaction for one domain and wallet, together.
create table creator_claim (
  network text not null,
  transaction text not null,
  log_index integer not null,
  account bytea not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  amount_micro bigint not null check (amount_micro > 0),
  epochs bigint[] not null,
  block_number bigint not null,
  claimed_at timestamptz not null,
  primary key (network, transaction, log_index)
);
create index creator_claim_by_wallet on creator_claim (wallet, block_number desc);

-- Up to which final block the events of a contract are in the books.
create table creator_cursor (
  network text not null,
  contract text not null,
  block_number bigint not null,
  primary key (network, contract)
);

-- Money of a domain that goes to another wallet because the first was lost. asked: not on chain yet. pending: announced
-- there, the wallet can refuse. moved: in effect. refused: by the wallet, for good.
create table creator_move (
  network text not null,
  account bytea not null check (octet_length(account) = 32),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  domain text,
  to_wallet text not null check (to_wallet ~ '^0x[0-9a-f]{40}$'),
  state text not null check (state in ('asked', 'pending', 'moved', 'refused')),
  -- Not asked for through this node: whoever signed it has the mover's key.
  foreign_request boolean not null default false,
  until_epoch bigint,
  ready_at timestamptz,
  asked_at timestamptz not null,
  ended_at timestamptz,
  primary key (network, account, wallet)
);
create index creator_move_open on creator_move (network) where state in ('asked', 'pending');
create index creator_move_by_wallet on creator_move (wallet);
create index creator_move_by_target on creator_move (to_wallet);

-- The source that answers for the page, whose proof says who is paid; null where it is the domain itself.
alter table creator_accrual add column payee_domain text;
update creator_accrual set state = 'accrued', root_id = null where state in ('committing', 'committed');
