-- Domains with waiting shares, and when to look at each. Whatever may make a domain payable calls for a look.
create table creator_waiting (
  domain text primary key,
  registrable text not null,
  look_at timestamptz not null
);
create index creator_waiting_due on creator_waiting (look_at);
create index creator_waiting_by_registrable on creator_waiting (registrable);
insert into creator_waiting
  select distinct on (domain) domain, registrable, '-infinity'::timestamptz from creator_accrual where state = 'waiting';

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

create index creator_accrual_waiting_of on creator_accrual (domain, id) where state = 'waiting';
create index creator_accrual_expiring on creator_accrual (created_at) where state = 'waiting';
create index creator_accrual_waiting_sum on creator_accrual (network) include (micro) where state = 'waiting';
-- What a wallet has open, without its past.
create index creator_accrual_open_of on creator_accrual (wallet, network) include (micro, state, held_until, payee_domain)
  where state in ('accrued', 'committing');
