-- contract: nothing is released yet, so no earlier version runs beside this one.
-- Names this database in the nonces of its payouts. A backup carries it, so a restored database makes the same nonces;
-- two databases never make the same one.
create table database_identity (
  only_one boolean primary key default true check (only_one),
  id uuid not null default gen_random_uuid()
);
insert into database_identity default values;
insert into app_access values ('database_identity', 'select');
create trigger database_identity_is_fixed before update or delete or truncate on database_identity
  for each statement execute function refuse_change();

-- What a payout pays: the account of its purpose (a wallet, or the authorization that is refunded), and n, the number of
-- its nonces that were used in final blocks before. Network, asset, custody address, purpose, account, n and the id of
-- the database decide the EIP-3009 nonce.
alter table payout add column account text, add column n bigint, add column spent boolean not null default false;
update payout p set account = o.account, n = o.n, spent = p.state = 'paid' from (
  select id, case when subject is null then payee else subject end as account,
    row_number() over (partition by network, purpose, payee, subject order by created_at, id) - 1 as n from payout) o
  where o.id = p.id;
alter table payout alter column account set not null, alter column n set not null,
  add constraint payout_account_check check (length(account) between 1 and 200),
  add constraint payout_n_check check (n >= 0),
  -- A nonce that was used is never used again, so n goes on.
  add constraint payout_spent_check check (state <> 'paid' or spent);
drop index payout_open;
create unique index payout_open on payout (network, purpose, account) where state in ('waiting','queued','signed','parked');
create unique index payout_spent on payout (network, purpose, account, n) where spent;
-- A returned authorization expired unused: the next one of the same identity has its nonce.
drop index payout_authorization;
create unique index payout_authorization on payout (network, payer, nonce) where state <> 'returned';
-- Found on the chain and not signed by these books: it has a nonce and no signature.
alter table payout drop constraint payout_check;
alter table payout add constraint payout_signed_check check (state not in ('signed','parked')
  or (nonce is not null and signature is not null and valid_before is not null));

create function refuse_unspending() returns trigger language plpgsql as $$
begin
  raise exception 'n of a payout is never lowered' using errcode = 'check_violation', constraint = 'payout_n_grows';
end $$;
create trigger payout_n_grows before update on payout for each row
  when (old.spent and not (new.spent and new.n = old.n and new.account = old.account and new.purpose = old.purpose
    and new.network = old.network)) execute function refuse_unspending();
