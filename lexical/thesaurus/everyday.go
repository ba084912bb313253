package thesaurus

// everyday are words that say the same in reports and rules and that a dictionary keeps
// apart. Each line is a set.
const everyday = `
airplane aircraft aeroplane plane
crash accident wreck
collide hit strike struck impact crash contact
tell told say said state stated report reported advise advised
see saw observe observed notice noticed
show showed shown reveal revealed indicate indicated disclose disclosed
maintain keep kept
depart departed leave left takeoff
arrive land
happen happened occur occurred
determine determined find found conclude concluded
begin began start started initiate initiated commence
end ended stop stopped cease ceased terminate
use used utilize utilized
injure hurt
kill killed die died fatal fatally death dead lethal lethality
examine examined inspect inspected check checked
airfield airport airstrip aerodrome
lack insufficient inadequate absence
attempt attempted try tried
result cause led
person people individual occupant
require must shall need
permit allow may
demolish destroy ruin
residence house home dwelling
night nighttime
day daytime
stuck trapped jammed
press depress push
pull yank
fasten secure tie
mayday distress
plow snowplow
truck pickup
compulsory mandatory required
limit maximum
reserve remain
drink beverage alcohol
whisky whiskey alcohol
attendant steward stewardess
seat seating
decide elect choose opt
come halt stop rest
prefer want
raise retract
continue keep
together cumulatively
color colour
gray grey
medication medicine drug
`
