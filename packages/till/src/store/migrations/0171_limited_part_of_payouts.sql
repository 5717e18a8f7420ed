-- The part of a payout that does not count against the daily limit of its purpose: a refund of money that the same wallet
-- recently paid in and did not use.
alter table payout add column uncounted_micro bigint not null default 0,
  add constraint payout_uncounted_check check (uncounted_micro >= 0);
