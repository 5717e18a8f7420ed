-- Points are a second currency in the same books: a unit of their own, on no chain.
alter table ledger_account drop constraint ledger_account_unit_check;
alter table ledger_account add constraint ledger_account_unit_check
  check (unit ~ '^eip155:[1-9][0-9]*/(usdc|gas)$' or unit = 'points');
