//! Relations that English texts state of people, places, organisations, works and things: which words express
//! each, which roles are two sides of one relation, and which states exclude each other.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One relation, and the lemmas that can express it.
#[derive(Debug)]
pub(crate) struct Frame {
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "names the relation for the reader of the table and of tests"
        )
    )]
    pub name: &'static str,
    pub words: Vec<&'static str>,
    /// Prepositions that express it where no word does: "the tower in Paris", "a song by Brel".
    pub links: Vec<&'static str>,
}

macro_rules! frames {
    ($($name:ident: $words:literal $(| $links:literal)?;)*) => {
        /// Words and links are separated by blanks, so that the table stays readable.
        static SOURCE: &[(&str, &str, &str)] = &[$((stringify!($name), $words, concat!($($links)?)),)*];
    };
}

frames! {
    birth: "born bear birth birthplace birthday birthdate native hometown";
    death: "die death dead decease deceased passing perish kill assassinate";
    burial: "bury burial grave cemetery rest";
    location: "locate location situate place site lie sit stand find position area region district city town village \
               county state province territory municipality address base house home seat country near where local" | "in at on near within inside outside by from of";
    headquarters: "headquarters headquarter headquartered base seat office home locate" | "in at from";
    country: "country nation state" | "in of from";
    containment: "part belong include contain comprise subdivision division section component consist within lie component fall" | "of in within";
    capital: "capital";
    origin: "origin originate come hail stem derive root native traditional typical find create country region birthplace homeland bear" | "from in of";
    leadership: "leader lead head president mayor chief governor premier chancellor minister monarch king queen chair chairman \
                 chairwoman chairperson rule govern ruler reign";
    chief_executive: "ceo chief_executive executive run lead head chief";
    management: "manager manage coach train trainer boss head run oversee management charge";
    founding: "found founder foundation establish establishment start create creation launch form formation incorporate inception \
               institute begin set-up originate" | "by";
    invention: "create creator creation invent inventor invention originate devise conceive" | "by";
    authorship: "author write writer authorship pen novelist poet novel book work" | "by of";
    composition: "compose composer composition write songwriter songwriting score song music" | "by";
    design: "design designer architect architecture plan" | "by";
    development: "develop developer development create make" | "by";
    making: "make maker manufacture manufacturer build builder construct construction produce producer production assemble assembly" | "by of";
    construction: "build construct construction erect complete completion finish building builder begin start";
    direction: "direct director film movie" | "by";
    performance: "star cast actor actress play feature appear role perform portray voice act" | "with";
    music_making: "perform performer sing singer musician play artist band music singing vocalist vocal" | "by";
    genre: "genre style kind type category form perform play music musical fusion" ;
    record_label: "label record sign release";
    instrument: "instrument play musician guitarist player";
    association: "associate association associated collaborate collaboration work member affiliate affiliation link connect perform play partner" | "with";
    occupation: "occupation job profession professional work career position role serve act" | "as";
    employment: "employ employer employee work hire staff" | "for at";
    education: "study alma_mater education educate attend graduate school university college degree student alumnus alma mater" | "at from";
    award: "award prize honour honor receive win medal decorate decoration recipient winner";
    membership: "member membership club team join player play sign represent squad side belong part" | "for of with";
    league: "league compete competition division championship play" | "in";
    season: "season compete play";
    home_ground: "ground stadium arena home play venue" | "at";
    party: "party member politician affiliation represent belong" ;
    office: "office serve position post hold work term minister role" | "as";
    precedence: "precede predecessor before previous prior earlier former";
    succession: "succeed successor follow after next sequel later follower replace";
    marriage: "spouse wife husband marry married marriage wed partner";
    parenthood: "parent father mother";
    offspring: "child son daughter offspring";
    siblings: "sibling brother sister";
    kinship: "relative relation family relate";
    religion: "religion faith church religious practise follow";
    ethnicity: "ethnic ethnicity group people live inhabit";
    language: "language speak tongue spoken write official";
    currency: "currency money pay";
    demonym: "demonym inhabit inhabitant people resident native know call person";
    nationality: "nationality citizen national citizenship native come bear" | "from";
    population: "population inhabitant people live resident populate citizen";
    density: "density dense densely";
    extent: "area cover size surface extent occupy total";
    elevation: "elevation altitude above level height high elevate";
    height: "height tall high stand";
    length: "length long";
    width: "width wide breadth";
    depth: "depth deep";
    mass: "mass weight weigh heavy";
    speed: "speed fast velocity";
    period: "period orbit orbital";
    duration: "duration last run long take runtime length";
    cost: "cost price budget worth expensive pay spend value" | "for";
    storeys: "floor storey story level";
    start: "start begin open commence launch inaugurate opening beginning first debut inauguration active since" | "since";
    end: "end close finish dissolve abolish retire cease final last";
    completion: "complete completion finish build construction";
    service: "serve service city";
    operation: "operate operator operation run manage organisation organization" | "by";
    ownership: "own owner ownership belong possess property hold" | "by of";
    acquisition: "acquire acquisition buy purchase takeover acquirer" ;
    price_paid: "price pay cost buy acquire acquisition purchase deal" | "for";
    tenancy: "tenant occupy rent house home occupant lease";
    ingredient: "ingredient contain include make use consist prepare comprise need require mix combine add feature find" | "with of in from";
    serving: "serve serving course eat dish temperature";
    variation: "variation variant version variety form type";
    publication: "publish publisher publication release issue" | "by";
    media: "media medium print format form hardcover paperback find available produce publish";
    identifier: "identifier code number id call";
    naming: "name call know title abbreviation abbreviate short alias acronym nickname known dub";
    former_name: "formerly former previously name call know rename once";
    discipline: "discipline subject field academic study specialise";
    affiliation: "affiliation affiliate associate member partner belong" | "with of";
    enrolment: "student enrol enroll enrolment enrollment pupil attend";
    staff: "staff employ employee faculty worker headcount workforce people work";
    combat: "battle fight war serve conflict combat participate";
    military: "military serve rank branch army force unit";
    crew: "crew mission pilot commander astronaut fly member serve select";
    revenue: "revenue sale turnover generate";
    income: "income profit earnings net";
    stock_symbol: "ticker symbol";
    exchange: "exchange trade list stock market" | "on";
    industry: "industry sector business field operate company maker specialise";
    product: "product make sell produce offer develop maker manufacture launch release build line sell" | "by from";
    competition: "compete competitor rival competition rivalry" | "with against";
    supply: "supply supplier provide provider source deliver" | "to from by";
    custom: "customer client buyer buy supply purchase";
    subsidiary: "subsidiary own parent division belong unit part owner";
    broadcasting: "broadcast air channel network show broadcaster" | "on by";
    dedication: "dedicate memorial honour commemorate dedication honor tribute";
    fame: "known notable famous notable know renown";
    residence: "live residence reside home resident dwell settle" | "in";
    flight: "launch flight fly maiden rocket mission";
    victory: "champion win winner title victory victorious";
    draft: "draft pick select round";
    title: "title hold call";
    activity: "active activity career service serve";
    position: "position play post role serve";
    alternative_name: "name call know alias also alternative";
    status: "status condition state";
    regime: "government govern legislature regime";
    memory: "memorial monument commemorate statue";
    followership: "follow sequel series";
    engine: "engine power powered motor";
    composition_of_matter: "material make consist surface" | "of";
    discovery: "discover discoverer discovery find" | "by";
    joining: "join join member become sign select choose";
    patronage: "patron saint";
    series: "series belong part";
}

/// Two sides of one relation: what one is to the other.
#[rustfmt::skip]
static INVERSES: &[(&str, &str)] = &[
    ("parent", "child"), ("father", "son"), ("father", "daughter"), ("mother", "son"), ("mother", "daughter"),
    ("father", "child"), ("mother", "child"), ("parent", "son"), ("parent", "daughter"), ("grandparent", "grandchild"),
    ("uncle", "nephew"), ("aunt", "niece"), ("employer", "employee"), ("teacher", "student"), ("teacher", "pupil"),
    ("mentor", "protégé"), ("doctor", "patient"), ("buyer", "seller"), ("buy", "sell"), ("purchase", "sell"),
    ("lend", "borrow"), ("lender", "borrower"), ("creditor", "debtor"), ("landlord", "tenant"), ("host", "guest"),
    ("give", "receive"), ("send", "receive"), ("supplier", "customer"), ("predecessor", "successor"), ("precede", "follow"),
    ("precede", "succeed"), ("ancestor", "descendant"), ("winner", "loser"),
    ("contain", "belong"), ("include", "belong"), ("own", "belong"), ("cause", "effect"),
    ("leader", "follower"), ("teach", "learn"), ("acquirer", "target"), ("larger", "smaller"), ("older", "younger"),
    ("subsidiary", "parent"), ("subsidiary", "owner"),
];

/// States and events that cannot hold of one thing at the same time.
#[rustfmt::skip]
static EXCLUSIVE: &[(&str, &str)] = &[
    ("alive", "dead"), ("living", "dead"), ("living", "deceased"), ("alive", "deceased"), ("open", "closed"), ("married", "single"),
    ("married", "unmarried"), ("public", "private"), ("present", "absent"), ("guilty", "innocent"), ("guilty", "acquitted"),
    ("win", "lose"), ("win", "defeat"), ("gain", "lose"), ("accept", "reject"), ("accept", "refuse"), ("approve", "reject"),
    ("approve", "refuse"), ("rise", "fall"), ("increase", "decrease"), ("increase", "decline"), ("grow", "shrink"),
    ("profit", "loss"), ("profitable", "unprofitable"), ("succeed", "fail"), ("success", "failure"), ("enter", "leave"),
    ("join", "leave"), ("join", "quit"), ("arrive", "depart"), ("begin", "end"), ("start", "end"), ("start", "finish"),
    ("open", "close"), ("hire", "fire"), ("hire", "dismiss"), ("appoint", "dismiss"), ("confirm", "deny"), ("support", "oppose"),
    ("love", "hate"), ("like", "dislike"), ("allow", "forbid"), ("permit", "prohibit"), ("legal", "illegal"), ("true", "false"),
    ("full", "empty"), ("male", "female"), ("northern", "southern"), ("eastern", "western"), ("north", "south"), ("east", "west"),
    ("import", "export"), ("maximum", "minimum"), ("largest", "smallest"), ("first", "last"), ("oldest", "newest"),
    ("found", "dissolve"), ("active", "inactive"), ("active", "retired"), ("ally", "enemy"), ("friend", "enemy"),
];

/// Short and alternative names of countries that have several, and their people; the first is the usual one.
#[rustfmt::skip]
static PLACES: &[&[&str]] = &[
    &["united_states", "usa", "us", "u.s.", "u.s", "u.s.a.", "u.s.a", "america", "united_states_of_america", "american"],
    &["united_kingdom", "uk", "u.k.", "u.k", "britain", "great_britain", "british", "england", "english", "scotland", "wales"],
    &["netherlands", "holland", "dutch"],
    &["republic_of_ireland", "ireland", "irish"],
    &["russia", "russian_federation", "soviet_union", "russian", "soviet"],
    &["china", "people_republic_of_china", "prc", "chinese"],
    &["south_korea", "republic_of_korea", "korea", "korean"],
    &["philippines", "philippine", "filipino"],
    &["czech_republic", "czechia", "czech"],
    &["germany", "german", "west_germany", "deutschland"],
    &["france", "french"], &["spain", "spanish"], &["greece", "greek"], &["denmark", "danish"],
    &["sweden", "swedish"], &["turkey", "turkish"], &["poland", "polish"], &["iceland", "icelandic"],
    &["new_zealand", "kiwi"], &["united_arab_emirates", "uae", "emirati"], &["european_union", "eu"],
    &["new_york_city", "nyc", "new_york"], &["los_angeles", "la", "l.a."], &["washington_dc", "washington"],
];

/// The usual name of a place of which this is another name.
pub(crate) fn places_of(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    let group = PLACES.iter().find(|g| g.contains(&word));
    group.into_iter().filter_map(|g| g.first().copied())
}

static FRAMES: LazyLock<Vec<Frame>> = LazyLock::new(|| {
    let frame = |&(name, words, links): &(&'static str, &'static str, &'static str)| Frame {
        name,
        words: words.split_whitespace().collect(),
        links: links.split_whitespace().collect(),
    };
    SOURCE.iter().map(frame).collect()
});

static BY_WORD: LazyLock<HashMap<&'static str, Vec<&'static Frame>>> = LazyLock::new(|| {
    let mut by_word: HashMap<_, Vec<&Frame>> = HashMap::new();
    for frame in FRAMES.iter() {
        for word in &frame.words {
            let frames = by_word.entry(*word).or_default();
            if !frames.iter().any(|f| std::ptr::eq(*f, frame)) {
                frames.push(frame);
            }
        }
    }
    by_word
});

/// The relations that a lemma can express.
pub(crate) fn frames_of(word: &str) -> impl Iterator<Item = &'static Frame> + use<> {
    BY_WORD
        .get(word)
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .copied()
}

/// They name the two sides of one relation.
pub(crate) fn inverse(a: &str, b: &str) -> bool {
    holds(INVERSES, a, b)
}

/// They cannot both be true of one thing at the same time.
pub(crate) fn exclusive(a: &str, b: &str) -> bool {
    holds(EXCLUSIVE, a, b)
}

fn holds(table: &[(&str, &str)], a: &str, b: &str) -> bool {
    table
        .iter()
        .any(|&(x, y)| (x == a && y == b) || (x == b && y == a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_express_several_relations() {
        let names = |w| frames_of(w).map(|f| f.name).collect::<Vec<_>>();
        assert!(names("write").contains(&"authorship"));
        assert!(names("headquarters").contains(&"headquarters"));
        assert!(names("xylophone").is_empty());
        assert!(exclusive("dead", "alive") && inverse("child", "parent"));
    }
}
