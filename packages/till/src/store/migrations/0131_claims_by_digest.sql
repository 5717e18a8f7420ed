-- What was signed, whole: a nonce can be signed with other amounts, payees and windows, and only the very authorization
-- that was claimed can be claimed again.
alter table payment add column authorization_digest bytea check (octet_length(authorization_digest) = 32);

-- Addresses that belong to this database, now or earlier. One that is no longer paid to is compared with the chain until
-- it is empty.
create table own_address (
  network text not null,
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  payee text not null check (payee in ('pay_to', 'custody')),
  -- Nobody else is paid at it, so a transfer without a claim belongs to whoever sent it.
  exclusive boolean not null,
  since timestamptz not null default now(),
  retired_at timestamptz,
  primary key (network, address, payee)
);
insert into app_access values ('own_address', 'select, insert, update');

-- Money that left custody and that nothing explains.
alter table transfer add column missing boolean not null default false;
create index transfer_missing on transfer (network) where missing and booked_as is null;

-- Leases are given and judged by one clock, the database's: processes may disagree about the time.
-- A function of its own, so that a simulation can put its own clock in the place of this one.
create function lease_now() returns timestamptz language sql stable as 'select clock_timestamp()';
-- Which attempt of its owner holds a payment that is being settled.
alter table payment add column attempt bigint not null default 0;

-- Answers that were paid for and did not reach their buyer, by age.
create index payment_not_delivered on payment (settled_at) where delivered_at is null and state = 'served' and final;
