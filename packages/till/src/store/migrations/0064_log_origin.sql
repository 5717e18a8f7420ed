-- The name under which the log signs. It stays what it was at the first start, whatever address the node has later:
-- another name would be another log to everyone who watches it.
alter table log_tree add column origin text check (length(origin) between 1 and 255);
update app_access set privileges = 'select, update (size, origin)' where table_name = 'log_tree';
create index log_cosignature_by_witness on log_cosignature (witness, size);
