-- What `urlmode check` and /healthz compare: when each callback host has committed last, and the
-- objects of this schema as the last migrate has left them.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.host (
	name         text COLLATE "C" PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 255),
	committed_at timestamptz NOT NULL
) WITH (fillfactor = 50, vacuum_truncate = off);
COMMENT ON TABLE urlmode.host IS
	'The callback hosts. The program status of each writes its row every ten seconds, so that a '
	'host that has nothing else to do knows whether a transaction commits.';
COMMENT ON COLUMN urlmode.host.name IS 'The name of the host, of its operating system.';
COMMENT ON COLUMN urlmode.host.committed_at IS 'When it wrote this row last.';

CREATE TABLE urlmode.object (
	kind   text COLLATE "C" NOT NULL,
	name   text COLLATE "C" NOT NULL,
	holder text COLLATE "C" NOT NULL DEFAULT '',
	digest bytea,
	PRIMARY KEY (kind, name, holder)
) WITH (vacuum_truncate = off);
COMMENT ON TABLE urlmode.object IS
	'The objects of this schema, as the last migrate has left them: urlmode.objects. What has '
	'changed since was changed by somebody else.';
COMMENT ON COLUMN urlmode.object.kind IS 'column, constraint, function, grant or index.';
COMMENT ON COLUMN urlmode.object.name IS 'Its name; of a grant that of its function.';
COMMENT ON COLUMN urlmode.object.holder IS 'Of a grant: the role that may execute the function.';
COMMENT ON COLUMN urlmode.object.digest IS 'SHA-256 of its definition; NULL: of a grant.';
