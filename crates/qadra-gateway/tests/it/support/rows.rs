use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row};
use tokio::sync::Mutex;

/// The database as its superuser sees it.
pub struct Rows {
    connection: Mutex<PgConnection>,
}

impl Rows {
    pub async fn connect(options: PgConnectOptions) -> Self {
        let connection = options
            .application_name("test")
            .connect()
            .await
            .expect("the test database");
        Self {
            connection: Mutex::new(connection),
        }
    }

    pub async fn run(&self, sql: &str) {
        let mut connection = self.connection.lock().await;
        let done = connection.execute(AssertSqlSafe(sql.to_owned())).await;
        done.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    /// The first column of the only row.
    pub async fn number(&self, sql: &str) -> i64 {
        let mut connection = self.connection.lock().await;
        let value = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(&mut *connection)
            .await;
        value.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let mut connection = self.connection.lock().await;
        let rows = connection.fetch_all(AssertSqlSafe(sql.to_owned())).await;
        let rows = rows.unwrap_or_else(|e| panic!("{sql}: {e}"));
        rows.iter()
            .map(|r| {
                r.try_get::<Option<String>, _>(0)
                    .expect("text")
                    .unwrap_or_default()
            })
            .collect()
    }

    /// The two columns of each row.
    pub async fn pairs(&self, sql: &str) -> Vec<(String, i64)> {
        let mut connection = self.connection.lock().await;
        let rows = sqlx::query_as(AssertSqlSafe(sql.to_owned()))
            .fetch_all(&mut *connection)
            .await;
        rows.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// How many rows each table has, as one text to compare.
    pub async fn counts(&self) -> String {
        self.each_table("count(*)::text", "true").await
    }

    /// Everything that a tenant's tables hold of it, as one text to compare.
    pub async fn of_tenant(&self, tenant_id: &str) -> String {
        let all = "md5(coalesce(string_agg(t::text, ';' ORDER BY t::text), ''))";
        self.each_table(all, &format!("tenant_id = '{tenant_id}'"))
            .await
    }

    async fn each_table(&self, what: &str, only: &str) -> String {
        let tables = self
            .texts(
                "SELECT table_name::text FROM information_schema.columns WHERE table_schema = 'public'
                 AND column_name = 'tenant_id' ORDER BY 1",
            )
            .await;
        assert!(tables.len() > 10, "{tables:?}");
        let mut out = String::new();
        for table in tables {
            let value = self
                .texts(&format!("SELECT ({what}) FROM {table} t WHERE {only}"))
                .await;
            out.push_str(&format!("{table} {}\n", value.concat()));
        }
        out
    }
}
