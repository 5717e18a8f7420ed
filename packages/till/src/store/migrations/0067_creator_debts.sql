-- A negative accrual names the one it takes back: when that one never reached the chain, the two cancel out.
alter table creator_accrual add column reverses bigint references creator_accrual;
create index creator_accrual_by_reversed on creator_accrual (reverses) where reverses is not null;
