create table toy_sold (
  payment_id text primary key,
  toy text not null
);
insert into app_access values ('toy_sold', 'select, insert');
insert into pause (name, stops, leaves_running) values ('toys', 'selling toys', 'what makers are owed is paid out');
insert into ledger_purpose (purpose, paid_out) values ('toy_maker', true);
