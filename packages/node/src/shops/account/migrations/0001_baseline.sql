-- What buyers were invoiced for. Numbers have no gaps, and what was issued stays as it was issued.
create table invoice (
  number bigint primary key check (number > 0),
  id text not null unique,
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  -- As it is shown, and the node's signature over it.
  document jsonb not null,
  jws text not null,
  issued_at timestamptz not null
);
create index invoice_payer on invoice (payer, number);
insert into app_access values ('invoice', 'select, insert');
create trigger invoice_append_only before update or delete or truncate on invoice
  for each statement execute function refuse_change();

-- A payment is on one invoice at most.
create table invoice_payment (
  payment_id text collate "C" primary key,
  invoice_number bigint not null references invoice (number)
);
insert into app_access values ('invoice_payment', 'select, insert');
insert into personal_data (place, what, kept_because) values
  ('invoice.document', 'name and address of a buyer, as it gave them', 'tax law; by hand once its time has passed');
