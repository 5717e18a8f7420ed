-- Logs of tokens and policies already fetched. They only name candidates: every published statement is confirmed by a
-- view at the pinned block, so a row too many or too few can cost work or completeness, never truth.
create table token_log_subject (
  chain_id bigint not null,
  -- A token's address, or policy:<id>.
  subject text not null check (length(subject) between 3 and 80),
  from_block bigint not null check (from_block >= 0),
  -- Everything from from_block up to here was read without a gap.
  to_block bigint not null,
  -- The block at to_block when it was read: if the chain has another one there now, the rows are worthless.
  to_hash text not null check (length(to_hash) = 66),
  failed jsonb not null default '[]',
  updated_at timestamptz not null,
  -- What the kept logs of a subject add up to. A list that no longer does is not used: with a grant missing, a token
  -- would look as if nobody had a power. Without a digest the logs are read again.
  digest text check (length(digest) = 66),
  primary key (chain_id, subject),
  check (to_block >= from_block)
);

create table token_log (
  chain_id bigint not null,
  subject text not null,
  block_number bigint not null,
  log_index integer not null,
  block_hash text not null,
  transaction_hash text not null,
  address text not null,
  topics text[] not null,
  data text not null,
  primary key (chain_id, subject, block_number, log_index),
  foreign key (chain_id, subject) references token_log_subject on delete cascade
);
