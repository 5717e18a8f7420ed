-- How many accounts a group has, so that nobody counts them all to show its balance.
alter table books_rollup_group add column accounts bigint not null default 0;
update books_rollup_group g set accounts = c.accounts
  from (select a.unit, a.kind, a.role, coalesce(a.purpose, '') as purpose, count(*) as accounts
    from books_rollup_account f join ledger_account a on a.id = f.account_id group by 1, 2, 3, 4) c
  where (g.unit, g.kind, g.role, g.purpose) = (c.unit, c.kind, c.role, c.purpose);

-- How far kept balances were compared with the entries in this round, and what the round before found.
create table balance_check (
  only_one boolean primary key default true check (only_one),
  after_account bigint not null default 0,
  found integer not null default 0,
  last_found integer not null default 0,
  round_ended_at timestamptz
);
insert into balance_check default values;
insert into app_access values ('balance_check', 'select, update');

-- Rows that cost their caller nothing are deleted when their time is over.
update app_access set privileges = 'select, insert, update, delete' where table_name in ('refused_payer', 'mandate');
