-- Declared sales of things made from our answers, and what was remitted for them.
create table royalty_remittance (
  id text primary key,
  payment_id text collate "C" not null unique,
  -- An attestation, a claim, an earlier remittance or a payment.
  parent text not null,
  parent_kind text not null check (parent_kind in ('attestation', 'remittance', 'payment')),
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  network text not null,
  sale_price_micro bigint not null check (sale_price_micro > 0),
  royalty_micro bigint not null check (royalty_micro > 0),
  record text not null,
  created_at timestamptz not null,
  -- The attestation over the record of a remittance, as citations and claims have one.
  signed jsonb
);
create index royalty_remittance_by_parent on royalty_remittance (parent, created_at);
insert into app_access values ('royalty_remittance', 'select, insert');
create trigger royalty_remittance_is_fixed before update or delete or truncate on royalty_remittance
  for each statement execute function refuse_change();

insert into ledger_purpose (purpose, paid_out) values ('royalty', true);
