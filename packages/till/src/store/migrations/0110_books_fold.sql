-- The books folded up to one database transaction, and payments up to one id, so that the operator's page reads what
-- came since and not millions of entries. A cache: whatever it says can be folded anew from the entries.
create table books_fold_head (
  only_one boolean primary key default true check (only_one),
  -- Every ledger transaction with a lower xid is in the fold; see ledger_seal for why that is an order.
  until_xid xid8 not null,
  -- Payments with a lower id are counted.
  until_payment text not null
);
insert into books_fold_head values (true, '0', '');

create table books_fold_account (
  account_id bigint primary key,
  balance_micro numeric not null
);

-- What clearing accounts hold, per payment; rows that come to zero go.
create table books_fold_clearing (
  account_id bigint not null,
  payment_id text not null,
  balance_micro numeric not null,
  since timestamptz not null,
  primary key (account_id, payment_id)
);

create table books_fold_payment (
  state text primary key,
  payments bigint not null,
  amount_micro numeric not null,
  oldest timestamptz not null
);
