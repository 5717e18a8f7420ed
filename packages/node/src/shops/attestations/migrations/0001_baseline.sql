-- builds on: sources

-- Pages that were cited, as they were read then; the crawler's own pages are not copied here.
create table cited_page (
  url text primary key check (length(url) <= 2048),
  final_url text not null check (length(final_url) <= 2048),
  http_status integer not null,
  title text not null,
  content_sha256 bytea not null check (octet_length(content_sha256) = 32),
  text_sha256 bytea not null check (octet_length(text_sha256) = 32),
  licence text,
  fetched_at timestamptz not null,
  -- The canonical link of the page, which may name another host of the same site to be paid.
  canonical text check (length(canonical) <= 2048)
);
create index cited_page_by_text on cited_page (text_sha256);

create table cited_text (
  text_sha256 bytea primary key check (octet_length(text_sha256) = 32),
  text text not null,
  -- A cited page is stored when its attestation is committed. Texts without an attestation were stored for requests that were
  -- never paid; the prune job deletes them.
  attestation text
);
create index cited_text_unused on cited_text (text_sha256) where attestation is null;

-- Who signed attestations: each key of the node, with the statement that ties its address on a chain to the node.
create table citation_attester (
  statement_sha256 bytea primary key check (octet_length(statement_sha256) = 32),
  statement text not null,
  signer text not null,
  chain_id bigint not null,
  key_id text not null,
  public_key text not null
);
insert into app_access values ('citation_attester', 'select, insert');

-- Stamped citations and anchored claims. The record that was signed is the entry of the log about them, byte for byte.
create table attestation (
  id text primary key,
  kind text not null check (kind in ('citation', 'claim')),
  payment_id text collate "C" not null unique,
  network text not null,
  agent text not null check (agent ~ '^0x[0-9a-f]{40}$'),
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  source_url text not null,
  domain text not null,
  registrable text not null,
  -- Whom it paid, where somebody had proven the source.
  creator text check (creator ~ '^0x[0-9a-f]{40}$'),
  -- Of the attester: r, s and v. What was signed follows from the record.
  signature bytea not null check (octet_length(signature) = 65),
  attester bytea not null,
  price_micro bigint not null check (price_micro >= 0),
  quote_found boolean,
  -- Why it says nothing about the source, if it does not.
  wash text[] not null default '{}',
  created_at timestamptz not null,
  -- When it was taken into the books of trust.
  aggregated_at timestamptz,
  -- A citation enters the books of trust only after its parties were checked in the light of the chain.
  checked_at timestamptz
);
create index attestation_by_agent on attestation (agent, created_at desc);
create index attestation_by_pair on attestation (payer, creator) where creator is not null;
create index attestation_unfolded on attestation (created_at) where aggregated_at is null;
create index attestation_unchecked on attestation (created_at) where checked_at is null;
insert into app_access values ('attestation', 'select, insert, update (aggregated_at, wash, checked_at)');

-- A creator's share of one sale. It waits for a proof of the domain, then accrues, then is part of a root on chain.
create table creator_accrual (
  id bigint generated always as identity primary key,
  -- The attestation, claim or remittance, and the place among its sources.
  subject text not null,
  place smallint not null default 0,
  payment_id text collate "C" not null,
  -- Times a reorg undid the payment before.
  round integer not null default 0,
  -- Money of a credit has no separate transaction: it is final once a block of after the call is.
  source text not null check (source in ('payment', 'credit')),
  payer text not null,
  network text not null,
  domain text not null,
  registrable text not null,
  -- Address of the page that was cited or sold; null where only its domain is known.
  page text,
  wallet text check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Which of the creator's accounts holds it: several, so that sales of one creator do not queue up.
  shard smallint not null check (shard between 0 and 15),
  micro bigint not null check (micro <> 0),
  state text not null check (state in ('waiting', 'accrued', 'committing', 'committed', 'reversed', 'expired')),
  held_until timestamptz,
  held_reason text,
  root_id bigint,
  created_at timestamptz not null,
  released_at timestamptz,
  -- A negative accrual names the one it reverses: when that one never reached the chain, the two cancel out.
  reverses bigint references creator_accrual,
  -- The source that answers for the page, whose proof says who is paid; null where it is the domain itself.
  payee_domain text,
  check (state in ('waiting', 'reversed', 'expired') or wallet is not null),
  unique (subject, place, round)
);
create index creator_accrual_open on creator_accrual (network, id) where state = 'accrued';
create index creator_accrual_waiting on creator_accrual (registrable, created_at) where state = 'waiting';
create index creator_accrual_by_wallet on creator_accrual (wallet, id desc);
create index creator_accrual_by_payment on creator_accrual (payment_id);
create index creator_accrual_by_root on creator_accrual (root_id) where root_id is not null;
-- What is not yet on chain is summed every few seconds; what is, is most of the table and must not be read for it.
create index creator_accrual_owed on creator_accrual (network) include (micro) where state in ('accrued', 'committing');
create index creator_accrual_by_reversed on creator_accrual (reverses) where reverses is not null;
create index creator_accrual_waiting_of on creator_accrual (domain, id) where state = 'waiting';
create index creator_accrual_expiring on creator_accrual (created_at) where state = 'waiting';
create index creator_accrual_waiting_sum on creator_accrual (network) include (micro) where state = 'waiting';
-- What a wallet has open, without its past.
create index creator_accrual_open_of on creator_accrual (wallet, network) include (micro, state, held_until, payee_domain)
  where state in ('accrued', 'committing');

create table creator_setting (
  wallet text primary key check (wallet ~ '^0x[0-9a-f]{40}$'),
  threshold_micro bigint not null check (threshold_micro > 0),
  updated_at timestamptz not null
);

-- Who funded the wallets that cite and that are cited, read from the chain; and from it, which have one owner.
create table funding_wallet (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- 0: it cited, paid or was paid. 1: it funded one of those.
  hop smallint not null check (hop between 0 and 8),
  -- Transfers into it are read up to this block; null until the first read.
  read_to bigint,
  -- While a long look goes on: how far it has come. What it found until then is in funding_partial.
  scanned_to bigint,
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
-- Sums of a read of the chain that is not finished, so that one which breaks off goes on where it was.
create table funding_partial (
  network text not null,
  wallet text not null,
  funder text not null,
  micro numeric not null check (micro > 0),
  first_block bigint not null,
  primary key (network, wallet, funder),
  foreign key (network, wallet) references funding_wallet
);
insert into app_access values ('funding_partial', 'select, insert, update, delete');
create index funding_edge_by_funder on funding_edge (network, funder);
insert into app_access values ('funding_edge', 'select, insert, update');

-- Whether a funder serves the public, as an exchange does: then having it in common says nothing.
create table funding_hub (
  network text not null,
  funder text not null check (funder ~ '^0x[0-9a-f]{40}$'),
  recipients integer not null check (recipients >= 0),
  hub boolean not null,
  probed_at timestamptz not null,
  primary key (network, funder)
);
insert into app_access values ('funding_hub', 'select, insert, update');

-- The contracts that pay creators. What is fixed in one follows from the settings of when it was first used, so other
-- settings mean another contract. The newest accepted one gets new roots; earlier ones pay what they hold for ever. One
-- that is not accepted was only asked for by the settings of a process.
create table creator_distributor (
  network text not null,
  contract text not null check (contract ~ '^0x[0-9a-f]{40}$'),
  -- Whose money it pulls, and who signs moves; the zero address for nobody.
  treasurer text not null check (treasurer ~ '^0x[0-9a-f]{40}$'),
  mover text not null check (mover ~ '^0x[0-9a-f]{40}$'),
  claim_delay_seconds bigint not null,
  move_delay_seconds bigint not null,
  accepted_at timestamptz,
  primary key (network, contract)
);

-- Up to which block the contract is known to have set no root after this epoch: a search that breaks off goes on there.
create table creator_root_scan (
  network text not null,
  contract text not null,
  epoch bigint not null,
  scanned_to bigint not null,
  primary key (network, contract)
);
insert into app_access values ('creator_root_scan', 'select, insert, update');

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
  contract text not null,
  account bytea not null check (octet_length(account) = 32),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  domain text,
  to_wallet text not null check (to_wallet ~ '^0x[0-9a-f]{40}$'),
  state text not null check (state in ('asked', 'pending', 'moved', 'refused')),
  -- Not asked for through this node: anyone who signed it has the mover's key.
  foreign_request boolean not null default false,
  until_epoch bigint,
  ready_at timestamptz,
  asked_at timestamptz not null,
  ended_at timestamptz,
  primary key (network, account, wallet, contract)
);
create index creator_move_open on creator_move (network) where state in ('asked', 'pending');
create index creator_move_by_wallet on creator_move (wallet);
create index creator_move_by_target on creator_move (to_wallet);

-- Domains with waiting shares, and when to check each. Whatever may make a domain payable calls for a check.
create table creator_waiting (
  domain text primary key,
  registrable text not null,
  look_at timestamptz not null
);
create index creator_waiting_due on creator_waiting (look_at);
create index creator_waiting_by_registrable on creator_waiting (registrable);

create function creator_waiting_look() returns trigger language plpgsql as $$
begin
  update creator_waiting set look_at = '-infinity'
    where registrable = (select s.registrable from source s where s.domain = new.domain) and look_at > '-infinity';
  return null;
end $$;
create trigger creator_waiting_source after update of state, proven_claim on source
  for each row when (old.state is distinct from new.state or old.proven_claim is distinct from new.proven_claim)
  execute function creator_waiting_look();
create trigger creator_waiting_claim after update of wallet_proven_at, proven_at, method on source_claim
  for each row when ((old.wallet_proven_at, old.proven_at, old.method)
    is distinct from (new.wallet_proven_at, new.proven_at, new.method))
  execute function creator_waiting_look();

-- What is in a root on chain is in the contract that pays it.
insert into ledger_purpose (purpose, backed_by) values ('creator_committed', 'contract');
