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
  -- Followed by the background index: read without a gap up to the block of token_index, whatever to_block says.
  indexed boolean not null default false,
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

-- How far the background index has read the factory, the policy registry and every token, final blocks only.
create table token_index (
  chain_id bigint primary key,
  from_block bigint not null check (from_block >= 0),
  to_block bigint not null,
  to_hash text not null check (length(to_hash) = 66),
  -- The newest final block when it was written: how far behind the index is.
  final_block bigint not null,
  -- Logs indexed so far; the index stops at a limit.
  logs bigint not null,
  updated_at timestamptz not null,
  check (to_block >= from_block)
);

-- Every token that the index has seen, with the verdict last read. Kept: a token is never gone.
create table token_listed (
  chain_id bigint not null,
  token text not null check (length(token) = 42),
  created_block bigint not null,
  created_transaction text not null,
  name text check (length(name) <= 256),
  symbol text check (length(symbol) <= 256),
  verdict text,
  complete boolean,
  verdict_block bigint,
  verdict_at timestamptz,
  -- Of the last log of the token, or of a list that it follows.
  changed_block bigint not null,
  -- Control changes up to this block have been published.
  published_block bigint not null,
  -- When it is read again; attempts that failed since the last verdict.
  due_at timestamptz not null,
  attempts integer not null default 0,
  primary key (chain_id, token)
);
create index token_listed_due on token_listed (chain_id, due_at);
create index token_listed_newest on token_listed (chain_id, created_block, token);
create index token_listed_verdict on token_listed (chain_id, verdict, created_block, token);

-- The lists that decide about a token, so that a change of a list is a change of the token.
create table token_policy (
  chain_id bigint not null,
  policy text not null,
  token text not null,
  primary key (chain_id, policy, token),
  foreign key (chain_id, token) references token_listed on delete cascade
);
create index token_policy_token on token_policy (chain_id, token);
