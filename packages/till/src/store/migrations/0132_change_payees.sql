-- Addresses can change by a deliberate, audited act; nothing else about an instance does, but for its key.
create or replace function refuse_instance_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.mode, new.chains, new.assets, new.created_at)
      is not distinct from (old.mode, old.chains, old.assets, old.created_at)
    and (new.payees = old.payees or current_setting('assay.change_payees', true) = 'on') then
    return new;
  end if;
  raise exception 'the instance row is fixed' using errcode = 'insufficient_privilege';
end $$;
