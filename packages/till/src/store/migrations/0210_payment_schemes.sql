-- contract: nothing is released yet, so no earlier version runs beside this one.
-- A payment is made by a scheme. Its key is what the scheme lets a payer use once: for `exact` the 32-byte nonce of the
-- authorization. Some of these keys are shared by several assets and contracts, so one payer uses a key once on a chain.
alter table payment add column scheme text not null default 'exact' check (scheme ~ '^[a-z][a-z0-9-]{0,39}$');
alter table payment alter column scheme drop default;
alter table payment rename column nonce to payment_key;
alter table payment drop constraint payment_nonce_check;
alter table payment add constraint payment_key_length check (octet_length(payment_key) between 16 and 128);
drop index payment_authorization;
create unique index payment_by_key on payment (network, payer, payment_key);
alter table payment rename column authorization_digest to signed_digest;
-- What was quoted. `amount_micro` is what is charged, which becomes final when the answer is prepared.
alter table payment add column quoted_micro bigint;
update payment set quoted_micro = amount_micro;
alter table payment alter column quoted_micro set not null;
alter table payment add constraint payment_charge_within_quote check (amount_micro <= quoted_micro);

-- The key a transfer shows, where the chain shows one; null for a plain transfer.
alter table transfer rename column nonce to payment_key;
alter table transfer drop constraint transfer_nonce_check;
alter table transfer add constraint transfer_key_length check (octet_length(payment_key) between 16 and 128);
alter index transfer_nonce rename to transfer_by_key;

drop function transfer_take(text[], text[], text[], integer[], text[], text[], bigint[], bytea[], bigint[], text[], text[], text[], timestamptz);
-- As in 0130.
create function transfer_take(
  networks text[], assets text[], transactions text[], positions integer[], senders text[], recipients text[],
  amounts bigint[], payment_keys bytea[], block_numbers bigint[], block_hashes text[], kinds text[], subjects text[],
  now_at timestamptz
) returns table (place integer, id bigint, turn smallint) language sql
  set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
  with given as (
    select * from unnest(networks, assets, transactions, positions, senders, recipients, amounts, payment_keys, block_numbers,
      block_hashes, kinds, subjects) with ordinality
      n (network, asset, transaction, position, sender, recipient, amount, payment_key, block_number, block_hash, kind, subject, place)
  ), taken as (
    insert into transfer as t (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number,
      block_hash, booked_as, booked_for, booked_at)
    select network, asset, transaction, position, sender, recipient, amount, payment_key, block_number, block_hash, kind, subject,
      now_at
    from given order by network, asset, transaction, position
    on conflict (network, asset, transaction, position) do update
      set booked_as = excluded.booked_as, booked_for = excluded.booked_for, booked_at = excluded.booked_at,
        block_number = excluded.block_number, block_hash = excluded.block_hash
      where t.booked_as is null and t.sender = excluded.sender and t.recipient = excluded.recipient
        and t.amount_micro = excluded.amount_micro
    returning t.id, t.turn, t.network, t.asset, t.transaction, t.position
  )
  select g.place::integer, t.id, t.turn from given g join taken t using (network, asset, transaction, position)
$$;
