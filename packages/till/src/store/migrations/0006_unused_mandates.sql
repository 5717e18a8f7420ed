-- Mandates that nobody ever drew on go some time after they ran out: anybody can sign any number of them.
create index concurrently mandate_unused on mandate (valid_until) where total_micro = 0;
