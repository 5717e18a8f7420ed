-- What is not yet on chain is summed every few seconds; what is, is most of the table and must not be read for it.
create index creator_accrual_owed on creator_accrual (network) include (micro) where state in ('accrued', 'committing');
alter table creator_accrual drop constraint creator_accrual_shard_check;
alter table creator_accrual add constraint creator_accrual_shard_check check (shard between 0 and 15);
